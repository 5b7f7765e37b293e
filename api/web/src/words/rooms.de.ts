import type { rooms as english } from "./rooms.en";

export const rooms: typeof english = {
  roomsIntro: "In dieser Reihenfolge stehen die Räume auf der Startseite, im Verlauf und auf der Wandanzeige, für alle, die hier wohnen.",
  roomsMember: "Über die Reihenfolge entscheidet, wem das Zuhause gehört. Umbenennen können alle, die hier wohnen.",
  roomUp: "{room}: weiter nach oben",
  roomDown: "{room}: weiter nach unten",
  roomMoved: "{room} steht jetzt an Stelle {n} von {total}.",
  roomRename: "Umbenennen",
  roomRenameOf: "{room} umbenennen",
  roomNewName: "Neuer Name für {room}",
  roomHistory: "Der Verlauf geht mit. Was bisher gemeldet wurde, behält den Namen von damals.",
  roomSave: "Speichern",
  roomRenamed: "{room} heißt jetzt {name}.",
  roomTaken: "Einen Raum namens {name} gibt es schon. Wähl einen anderen Namen.",
  roomGone: "Einen Raum namens {room} gibt es nicht mehr: Jemand hat ihn umbenannt oder seine Geräte verlegt. Hier stehen die Räume, wie sie jetzt sind.",
};
