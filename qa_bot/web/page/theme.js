// Runs before the first paint, so that a remembered dark page never flashes white.
try {
  const theme = localStorage.getItem("qa-bot:theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // If storage is forbidden, the system's colours apply.
}
