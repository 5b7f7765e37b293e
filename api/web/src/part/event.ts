// Events in words.

import { codeText, t } from "../text";

/** Names whose value makes an event say more, the ones that say most first. */
const tells = ["restored", "backup", "lost", "deviceId", "place", "title", "by", "installer"];

/** What happened, in a sentence; values are what is known of the event, by name. */
export function eventText(kind: string, values: Record<string, string>): string {
  const known = { ...values, device: values.device || t("eventDevice"), member: values.member || t("eventMember") };
  for (const name of tells) {
    const text = values[name] && codeText("event", `${kind}_${name}`, known);
    if (text) return text;
  }
  return codeText("event", kind, known) || kind.replace(/Event$/, "").replace(/(?<=.)[A-Z]/g, (c) => " " + c.toLowerCase());
}
