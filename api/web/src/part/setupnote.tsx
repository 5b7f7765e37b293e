import { useEffect, useState } from "preact/hooks";
import { call } from "../api";
import { place, to } from "../route";
import { installs, type Setup, type Step } from "../setup";
import type { Overview } from "../state";
import { codeText, t } from "../text";

/** Says that the setup of the home is not finished, and learns which homes the caller installs. */
export function SetupNote({ o }: { o: Overview }) {
  const [step, keep] = useState<Step>("");
  useEffect(() => {
    call<Setup>("GET", "/web/v1/setup").then(
      (s) => {
        installs.value = s.homes.filter((h) => h.role === "installer");
        keep(s.homes.find((h) => h.id === o.home.id && h.role === "owner")?.step ?? "");
      },
      () => {}, // asked again when another home is shown
    );
  }, [o.user.id, o.home.id, place.value.screen]);
  if (step === "") return null;
  return (
    <p class="note fr-note">
      {t("frUnfinished", { step: codeText("frStep_", step) })} <a class="fr-go" href={to("setup")}>{t("frGoOn")}</a>
    </p>
  );
}
