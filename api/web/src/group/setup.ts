// The first run, the set-up, and the homes that somebody installs.

import "./shared"; // so that the first view is one file of the bundle, and what groups share another (CONTRIBUTING.md)

export { Screen as devices } from "../screen/devices";
export { Screen as links } from "../screen/links";
export { Screen as walk } from "../screen/walk";
export { Screen as tuning } from "../screen/tuning";
export { Screen as map } from "../screen/map";
export { Screen as sensors } from "../screen/sensors";
export { Screen as firstrun } from "../screen/firstrun";
export { Screen as installs } from "../screen/installs";
