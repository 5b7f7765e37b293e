import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { useAnswer } from "../answer";
import { codeText, t } from "../text";
import { BoxPage } from "./frame";
import { row } from "./part";

interface Setting {
  key: string;
  value: string | null;
  set: boolean;
  secret: boolean;
  origin: string;
  line: number | null;
  standard: string;
}

/** The variable of the environment that sets it. */
const variable = (s: Setting) => "SENSEGATE_" + s.key.toUpperCase().replaceAll(".", "_");

/** What the box was started with, and where each value comes from. */
export function Settings() {
  const answer = useAnswer<{ file: string; settings: Setting[] }>(row("settings"));
  const id = useId();
  const sought = useSignal("");
  const own = useSignal(false);
  const s = answer.value;
  const fits = (one: Setting) => (!own.value || one.origin !== "default") && [one.key, one.value, variable(one)].some((text) => text?.toLowerCase().includes(sought.value.trim().toLowerCase()));
  const found = s?.settings.filter(fits) ?? [];
  const groups = [...new Set(found.map((one) => (one.key.includes(".") ? one.key.split(".")[0] : "")))];
  return (
    <BoxPage title="bxSettings" answer={answer} under={s && `${t("bxSettingsText")} ${s.file ? t("bxSettingsFile", { file: s.file }) : t("bxSettingsNoFile")}`}>
      {s && (
        <>
          <div class="form bx-search">
            <label for={id}>{t("bxSearch")}</label>
            <input id={id} type="search" autocomplete="off" value={sought.value} onInput={(e) => (sought.value = e.currentTarget.value)} />
            <label class="check"><input type="checkbox" checked={own.value} onChange={() => (own.value = !own.value)} /> {t("bxSettingsOwn")}</label>
          </div>
          {found.length === 0 && <p role="status">{t("bxSettingsNone")}</p>}
          {groups.map((group) => (
            <section key={group} class="bx-section">
              {group && <h2>{group}</h2>}
              <ul class="bx-settings">{found.filter((one) => (one.key.includes(".") ? one.key.split(".")[0] : "") === group).map((one) => <Row key={one.key} of={one} file={s.file} />)}</ul>
            </section>
          ))}
        </>
      )}
    </BoxPage>
  );
}

function Row({ of: s, file }: { of: Setting; file: string }) {
  const shown = s.secret ? t(s.set ? "bxSecretSet" : "bxSecretUnset") : s.value || "–";
  const from = codeText("bxFrom_", s.origin, { line: s.line ?? "" }) || s.origin;
  return (
    <li>
      <details>
        <summary><code class="grow">{s.key}</code><span class="bx-value">{shown}</span>{s.origin !== "default" && <span class="tag bx-on">{from}</span>}</summary>
        <p>{t("bxSettingHow", { key: s.key, file: file || "config.yaml" })} {t("bxSettingOr")} <code>{variable(s)}{s.secret && `, ${variable(s)}_FILE`}</code>. {!s.secret && t("bxSettingStandard", { value: s.standard || "–" })}</p>
      </details>
    </li>
  );
}
