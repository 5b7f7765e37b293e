import { alerts } from "./alerts.en";
import { firstrun } from "./firstrun.en";
import { people } from "./people.en";
import { rooms } from "./rooms.en";

/** The messages of screens that are fetched when they are opened. */
export const rest = { ...alerts, ...firstrun, ...people, ...rooms };
