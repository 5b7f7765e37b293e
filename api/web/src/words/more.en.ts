import { alerts } from "./alerts.en";
import { firstrun } from "./firstrun.en";

/** The messages in English of screens that are fetched when they are first opened, with these. */
export const more = { ...alerts, ...firstrun };
