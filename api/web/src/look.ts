// How the page looks on this device: light or dark, and how large its text is.

import { signal } from "@preact/signals";

export const themes = ["auto", "light", "dark"] as const;
export const sizes = ["100", "125", "150", "200"] as const;

/** A choice that is kept on this device and stands as an attribute on the root element. */
function choice<T extends string>(name: string, values: readonly T[]) {
  const key = "sensegate-" + name;
  const chosen = signal(values[0]);
  const show = (value: T) => {
    chosen.value = value;
    if (value === values[0]) document.documentElement.removeAttribute("data-" + name);
    else document.documentElement.setAttribute("data-" + name, value);
  };
  try {
    const kept = localStorage.getItem(key);
    show(values.find((v) => v === kept) ?? values[0]);
  } catch {
    // the first
  }
  const choose = (value: T) => {
    show(value);
    try {
      localStorage.setItem(key, value);
    } catch {
      // until the page is closed
    }
  };
  return { chosen, choose };
}

export const theme = choice("theme", themes);
export const size = choice("size", sizes);
