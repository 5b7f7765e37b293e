// What stands around each part of the box.

import type { ComponentChildren } from "preact";
import { useAnswer, type Answer } from "../answer";
import { Page, Waiting } from "../part/page";
import { place, to } from "../route";
import { overview } from "../state";
import { codeText, t } from "../text";
import type { Messages } from "../words/en";

type Way = [part: string, name: keyof Messages];

const groups: [title: keyof Messages, ways: Way[]][] = [
  ["bxGroupBox", [["", "bxStatus"], ["backup", "bxBackup"], ["devices", "suDevices"]]],
  ["bxGroupWho", [["accounts", "bxAccounts"], ["keys", "bxKeys"], ["mqtt", "bxMqtt"], ["uplinks", "bxUplinks"], ["mails", "bxMails"], ["code", "frCode"]]],
  ["bxGroupInside", [["secure", "bxSecure"], ["settings", "bxSettings"], ["audit", "bxAudit"], ["log", "bxLog"], ["database", "bxDatabase"], ["record", "bxRecord"]]],
];

const here = () => place.value.rest[0] ?? "";

/** The way between the parts of the box: beside them on a desk, below the first on a phone. */
function Ways() {
  return (
    <nav class={here() === "" ? "bx-ways" : "bx-ways bx-wide"} aria-label={t("bxParts")}>
      {groups.map(([title, ways]) => (
        <section key={title}>
          <h2>{t(title)}</h2>
          <ul>
            {ways.map(([part, name]) => (
              <li key={part} class={part === "" ? "bx-wide" : undefined}><a href={part === "" ? to("box") : to("box", part)} aria-current={here() === part ? "page" : undefined}>{t(name)}</a></li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

/** A part of the box: its one truth above, and what came of asking for it. */
export function BoxPage({ title, truth, under, answer, children }: { title: keyof Messages; truth?: string; under?: ComponentChildren; answer?: Answer<unknown>; children?: ComponentChildren }) {
  const shut = answer?.refusal && answer.value === undefined && (answer.refusal.status === 403 || answer.refusal.status === 404);
  return (
    <Page title={t(title)} kind="bx" heading={truth || t(title)}>
      {here() !== "" && <p class="bx-back"><a href={to("box")}>{t("box")}</a></p>}
      <div class="bx-main">
        {under && <p class="bx-under">{under}</p>}
        {shut ? <Shut code={answer!.refusal!.code} /> : <>{answer && <Waiting answer={answer} />}{children}</>}
      </div>
      {!shut && <Ways />}
    </Page>
  );
}

/** Why somebody may not look after the box, and who can change that. */
function Shut({ code }: { code: string }) {
  const session = useAnswer<{ unmanaged?: boolean }>("/web/v1/session");
  const why = session.value?.unmanaged ? "unmanaged" : code;
  return (
    <div class="note">
      <p>{codeText("bxShut_", why) || t("bxShutOff")}</p>
      {why === "unmanaged" && <p><code>sensegate user admin {overview.value?.user.email ?? t("address")}</code></p>}
    </div>
  );
}
