const CHOICE = "perch.theme";

export type Theme = "auto" | "light" | "dark";

export function theme(): Theme {
  return (localStorage.getItem(CHOICE) as Theme | null) ?? "auto";
}

/** Shows the page in light or dark colours, or as the system asks. */
export function chooseTheme(chosen: Theme): void {
  localStorage.setItem(CHOICE, chosen);
  startTheme();
}

export function startTheme(): void {
  document.documentElement.dataset.theme = theme();
}
