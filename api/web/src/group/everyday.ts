// The screens of those who live in a home.

import "./shared"; // so that the first view is one file of the bundle, and what groups share another (CONTRIBUTING.md)

export { Screen as alerts } from "../screen/alerts";
export { Screen as inbox } from "../screen/inbox";
export { Screen as history } from "../screen/history";
export { Screen as people } from "../screen/people";
export { Screen as rooms } from "../screen/rooms";
export { Screen as live } from "../screen/live";
export { Screen as insights } from "../screen/insights";
export { Screen as wall } from "../screen/wall";
export { Screen as me } from "../screen/me";
export { Screen as moment } from "../screen/moment";
