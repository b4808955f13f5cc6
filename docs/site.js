// The button that copies a page as Markdown.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const page = await fetch(button.dataset.copy);
  if (!page.ok) return;
  await navigator.clipboard.writeText(await page.text());
  button.textContent = "Copied";
});
