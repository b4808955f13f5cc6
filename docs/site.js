// The button that copies a page as Markdown.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const page = await fetch(button.dataset.copy);
  if (!page.ok) return;
  await navigator.clipboard.writeText(await page.text());
  button.textContent = "Copied";
});

// Code that scrolls can be reached by keyboard on every screen, also where the theme leaves it out.
new MutationObserver((changes) => {
  for (const { target } of changes) {
    if (target.matches("pre > code") && !target.hasAttribute("tabindex")) target.tabIndex = 0;
  }
}).observe(document.documentElement, { attributeFilter: ["tabindex"], subtree: true });
