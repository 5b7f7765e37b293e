import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call } from "../api";
import { errand } from "../errand";
import { Languages, SignForm } from "../part/signform";
import { go } from "../route";
import { refresh } from "../state";
import { t } from "../text";

export function SignIn() {
  const claimed = useSignal(true);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    document.title = t("name");
    call<{ claimed: boolean }>("GET", "/web/v1/boot").then((b) => (claimed.value = b.claimed), () => {});
  }, []);
  return (
    <main class="signin">
      <img src="icon.svg" alt="" width="56" height="56" />
      <h1 tabIndex={-1} ref={heading}>{t("name")}</h1>
      {!claimed.value && (
        <div class="note fr-unclaimed">
          <p><strong>{t("notSetUp")}</strong> {t("notSetUpHelp")}</p>
          <button class="main" onClick={() => go("setup")}>{t("setUp")}</button>
        </div>
      )}
      <SignForm yes={t("signIn")} done={refresh} />
      <details>
        <summary>{t("forgotten")}</summary>
        <ol class="steps">
          <li>{t("forgottenMember")}</li>
          <li>{t("forgottenOwner")}</li>
          <li>{t("forgottenNobody")} <code>sensegate user password {t("address")}</code></li>
        </ol>
      </details>
      {claimed.value && <p><button onClick={() => (errand.value = { kind: "join", token: "", network: 0 })}>{t("haveCode")}</button></p>}
      <p class="language"><Languages /></p>
    </main>
  );
}
