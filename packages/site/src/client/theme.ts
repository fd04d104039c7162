/** Runs before the page is drawn, so that a chosen theme does not flash. */
try {
  const chosen = localStorage.getItem('florin-docs-theme');
  if (chosen !== null) document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing has the theme of its system.
}
