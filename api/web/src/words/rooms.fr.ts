import type { rooms as english } from "./rooms.en";

export const rooms: typeof english = {
  roomsIntro: "Les pièces apparaissent dans cet ordre à l'accueil, dans l'historique et sur l'affichage mural, pour tous ceux qui vivent ici.",
  roomsMember: "C'est le propriétaire du foyer qui décide de l'ordre. Tous ceux qui vivent ici peuvent changer les noms.",
  roomUp: "{room} : monter",
  roomDown: "{room} : descendre",
  roomMoved: "{room} est maintenant en position {n} sur {total}.",
  roomRename: "Renommer",
  roomRenameOf: "Renommer {room}",
  roomNewName: "Nouveau nom pour {room}",
  roomHistory: "Son historique la suit. Ce qui a déjà été signalé garde le nom d'alors.",
  roomSave: "Enregistrer",
  roomRenamed: "{room} s'appelle maintenant {name}.",
  roomTaken: "Une pièce s'appelle déjà {name}. Choisissez un autre nom.",
  roomGone: "Il n'y a plus de pièce appelée {room} : quelqu'un l'a renommée ou a déplacé ses appareils. Voici les pièces telles qu'elles sont maintenant.",
};
