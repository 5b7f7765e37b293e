// The screens that are fetched when they are first opened, by their names in the address.

import type { ComponentType } from "preact";
import type { Overview } from "./state";
import { withWords } from "./text";

/** A screen for those who live in a home. */
export type Screen = ComponentType<{ o: Overview }>;

/** A screen for those who set a home up, and who may know no more of it than this. */
export type SetupScreen = ComponentType<{ home: { id: number; name: string; timezone: string; role: string }; installer: boolean }>;

export const screens: Record<string, () => Promise<{ Screen: Screen }>> = {
  alerts: () => withWords(import("./screen/alerts")),
  inbox: () => import("./screen/inbox"),
  history: () => import("./screen/history"),
  people: () => withWords(import("./screen/people")),
  live: () => import("./screen/live"),
  insights: () => import("./screen/insights"),
  wall: () => import("./screen/wall"),
  me: () => import("./screen/me"),
  moment: () => import("./screen/moment"),
};

export const setupScreens: Record<string, () => Promise<{ Screen: SetupScreen }>> = {
  devices: () => import("./screen/devices"),
  links: () => import("./screen/links"),
  walk: () => import("./screen/walk"),
  tuning: () => import("./screen/tuning"),
  map: () => import("./screen/map"),
  sensors: () => import("./screen/sensors"),
};
