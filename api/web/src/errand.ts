// What a link brought somebody for: joining a home, confirming an address, a new password. Its
// code or token stands behind #, where no server sees it, and is taken out of the address at once.
// Links in mails open /confirm, /reset and /invite; earlier ones have the token in the query.

import { signal } from "@preact/signals";
import { place } from "./route";

export interface Errand {
  kind: "join" | "confirm" | "reset" | "invite" | "demo";
  token: string;
  network: number; // invite
}

/** What is to be done before anything else is shown. */
export const errand = signal<Errand | undefined>(undefined);

const codes = /^#(join|demo|reset|confirm)=(.+)$/;

/** Takes an errand out of the address. */
export function takeErrand() {
  const code = codes.exec(location.hash);
  const path = /^\/(confirm|reset|invite)\/?$/.exec(location.pathname)?.[1];
  if (!code && path === undefined) return;
  const given = new URLSearchParams(location.search);
  new URLSearchParams(location.hash.slice(1)).forEach((value, key) => given.set(key, value));
  errand.value = code
    ? { kind: code[1] as Errand["kind"], token: decodeURIComponent(code[2]), network: 0 }
    : { kind: path as Errand["kind"], token: given.get("token") ?? "", network: Number(given.get("network_id")) };
  history.replaceState(null, "", "/");
  place.value = { screen: "", rest: [], query: new URLSearchParams() };
}

addEventListener("hashchange", takeErrand);
