import { useState } from "preact/hooks";
import { origin } from "../part/code";
import { Doing } from "../part/form";
import { t } from "../text";
import { BoxPage } from "./frame";
import { ask, Once, type Secret } from "./part";

/** Makes a code with which somebody registers and claims a home. */
export function SetupCode() {
  const [secret, show] = useState<Secret | undefined>();
  const make = async () => {
    const made = await ask<{ code: string; link: string }>("POST", "setup-code", {});
    const link = made.link && origin(new URL(made.link).origin) + "/#setup=" + encodeURIComponent(made.code);
    show({ title: t("codeTitle"), text: t("bxCodeOnce"), code: made.code, qr: link || undefined, values: link ? [[t("link"), link]] : [] });
  };
  return (
    <BoxPage title="frCode" under={t("bxCodeText")}>
      {secret ? <Once key={secret.code} of={secret} done={() => show(undefined)} /> : <div class="note bx-section"><p>{t("bxCodeWhy")}</p><Doing main text={t("bxCodeYes")} run={make} /></div>}
    </BoxPage>
  );
}
