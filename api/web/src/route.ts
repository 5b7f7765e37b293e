// Which screen the address names: #/history/2026-11-22?room=Kitchen. What stands behind # is
// sent to nobody.

import { signal } from "@preact/signals";

export interface Place {
  screen: string; // "": home
  rest: string[];
  query: URLSearchParams;
}

function parse(): Place {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [screen, ...rest] = path.split("/").map(decode);
  return { screen, rest, query: new URLSearchParams(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Where the page is. */
export const place = signal(parse());

addEventListener("hashchange", () => {
  place.value = parse();
  scrollTo(0, 0);
});

/** Goes to a screen: go("history", "2026-11-22"). */
export function go(...parts: string[]) {
  location.hash = to(...parts);
}

/** Goes to a screen in the place of what the address says, which may be a secret. */
export const goInstead = (...parts: string[]) => replace(to(...parts));

/** Takes the place of what the address says behind #. */
export function replace(hash: string) {
  history.replaceState(null, "", "/" + hash);
  place.value = parse();
}

/** The address of a screen, for links. */
export const to = (...parts: string[]) => "#/" + parts.map(encodeURIComponent).join("/");
