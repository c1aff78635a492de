const KEY = 'pgplane-theme';
const THEMES = ['auto', 'light', 'dark'] as const;

/** The page's colours: as the system has them, or as chosen here. */
export type Theme = (typeof THEMES)[number];

export function readTheme(): Theme {
  return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto';
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem(KEY, theme);
}

export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
}
