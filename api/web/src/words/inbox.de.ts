import type { inbox as english } from "./inbox.en";

export const inbox: typeof english = {
  ibAllRead: "Alles gelesen",
  ibNew: "neu",
  ibMarkAll: "Alles als gelesen markieren",
  ibEmpty: "Noch ist nichts geschehen",
  ibEmptyHelp: "Hierher kommt, was dein Zuhause betrifft: Meldungen, Bewegung, während ihr unterwegs seid, Geräte, Menschen.",
  ibEmptyDo: "Aussuchen, was gemeldet wird",
  ibTrial: "Probe",
  ibOlder: "Älteres zeigen",
  ibToday: "Heute",
  ibYesterday: "Gestern",
  ibWhereAlert: "Die Meldung",
  ibWhereDay: "Dieser Tag",
  ibWherePeople: "Menschen",
  ibWhyMotion: "Es hat sich etwas bewegt.",
  ibWhyNo_motion: "Es hat sich nichts bewegt.",
  ibWhyNo_history: "Ob sich etwas bewegt hat, ist nicht bekannt.",
  ibAway: "{what}, während niemand da war",
};
