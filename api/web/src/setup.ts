// What somebody may set up: which homes, and where that stands.

import { signal } from "@preact/signals";

/** A home that nobody owns. */
export interface Claimable {
  id: number;
  name: string;
  nodes: number;
  names: string[];
  online: number;
  heard: number | null;
}

/** What is to be done next; "" for nothing. */
export type Step = "devices" | "rooms" | "walk" | "handover" | "";

/** A home that the caller owns or installs. */
export interface SetupHome {
  id: number;
  name: string;
  timezone: string;
  role: "owner" | "installer";
  until: number | null;
  step: Step;
}

/** GET /web/v1/setup. */
export interface Setup {
  code: boolean; // they have shown the setup code
  claimable: Claimable[];
  homes: SetupHome[];
  address: string; // of the box, for devices
}

/** The homes that the caller installs, once they are known. */
export const installs = signal<SetupHome[]>([]);

/** The home that an installer has chosen; 0: none. */
export const installing = signal(0);
