import type { inbox as english } from "./inbox.en";

export const inbox: typeof english = {
  ibAllRead: "Tout est lu",
  ibNew: "nouveau",
  ibMarkAll: "Tout marquer comme lu",
  ibEmpty: "Il ne s'est encore rien passé",
  ibEmptyHelp: "Ici arrive ce qui concerne votre foyer : alertes, mouvements en votre absence, appareils, personnes.",
  ibEmptyDo: "Choisir ce qui doit être signalé",
  ibTrial: "essai",
  ibOlder: "Afficher plus ancien",
  ibToday: "Aujourd'hui",
  ibYesterday: "Hier",
  ibWhereAlert: "L'alerte",
  ibWhereDay: "Ce jour-là",
  ibWherePeople: "Personnes",
  ibWhyMotion: "Il y a eu du mouvement.",
  ibWhyNo_motion: "Personne n'a bougé.",
  ibWhyNo_history: "On ne sait pas si quelqu'un a bougé.",
  ibAway: "{what} en votre absence",
};
