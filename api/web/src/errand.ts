// What a link brought somebody for: joining a home, confirming an address, a new password. Its
// code or token stands behind #, where no server sees it, and is taken out of the address at once.
// Links in mails open /confirm, /reset and /invite; earlier ones have the token in the query.

import { signal } from "@preact/signals";
import { goInstead, place } from "./route";

export interface Errand {
  kind: "join" | "confirm" | "reset" | "invite" | "demo";
  token: string;
  network: number; // invite
  as?: string; // join: what the link says one joins as
}

/** What is to be done before anything else is shown. */
export const errand = signal<Errand | undefined>(undefined);

const codes = /^#(join|demo|reset|confirm|setup)=([^&]+)(?:&as=(\w+))?/;

const setupKey = "sensegate-setup";

let held = ""; // the setup code, where the browser keeps nothing for pages

/** The setup code of the link that was opened, until it was used: "" without one. */
export function setupCode(): string {
  try {
    return sessionStorage.getItem(setupKey) ?? held;
  } catch {
    return held;
  }
}

/** Keeps the setup code, so that a reload before the account is made does not lose it. */
export function keepSetupCode(code: string) {
  held = code;
  try {
    if (code) sessionStorage.setItem(setupKey, code);
    else sessionStorage.removeItem(setupKey);
  } catch {
    // held until the page is closed
  }
}

/** Takes an errand out of the address. */
export function takeErrand() {
  const code = codes.exec(location.hash);
  const path = /^\/(confirm|reset|invite)\/?$/.exec(location.pathname)?.[1];
  if (!code && path === undefined) return;
  if (code?.[1] === "setup") {
    keepSetupCode(decodeURIComponent(code[2]));
    errand.value = undefined;
    return goInstead("setup");
  }
  const given = new URLSearchParams(location.search);
  new URLSearchParams(location.hash.slice(1)).forEach((value, key) => given.set(key, value));
  errand.value = code
    ? { kind: code[1] as Errand["kind"], token: decodeURIComponent(code[2]), network: 0, as: code[3] }
    : { kind: path as Errand["kind"], token: given.get("token") ?? "", network: Number(given.get("network_id")) };
  history.replaceState(null, "", "/");
  place.value = { screen: "", rest: [], query: new URLSearchParams() };
}

addEventListener("hashchange", takeErrand);
