import { useId, useState } from "preact/hooks";
import { useAnswer } from "../answer";
import { sure } from "../part/dialog";
import { Doing, Fields } from "../part/form";
import { counted } from "../part/when";
import { t } from "../text";
import { BoxPage } from "./frame";
import { ask, New, Once, row, when, type Secret } from "./part";

interface User {
  name: string;
  topic_prefix: string;
  home_assistant: boolean; // it reads the entities of the box, and writes commands
  created_at: number;
  network_id: number | null;
}

/** Who may sign in to the box's MQTT broker, besides devices. */
export function MqttUsers() {
  const answer = useAnswer<{ users: User[]; broker: string }>(row("mqtt-users"), 60);
  const [secret, show] = useState<Secret | undefined>();
  const [assists, setAssists] = useState(false);
  const id = useId();
  const users = answer.value?.users;
  const make = async (form: FormData) => {
    const made = await ask<{ name: string; topic_prefix: string; secret: string; broker: string }>("POST", "mqtt-users", { name: String(form.get("name")).trim(), topic_prefix: String(form.get("prefix") ?? "").trim(), home_assistant: assists });
    show({ title: made.name, values: [[t("bxBroker"), made.broker], [t("suName"), made.name], [t("password"), made.secret], ...(assists ? [] : [[t("bxTopics"), made.topic_prefix + "/#"] as [string, string]])] });
    await answer.again();
    return "";
  };
  const remove = async (u: User) => {
    if (!(await sure(t("remove", { name: u.name }), t("bxMqttWhy"), t("removeYes")))) return;
    await ask("DELETE", "mqtt-users/" + encodeURIComponent(u.name));
    await answer.again();
  };
  return (
    <BoxPage title="bxMqtt" truth={users && (users.length > 0 ? counted("bxMqttTruth", users.length) : t("bxMqttNone"))} answer={answer} under={t("bxMqttText")}>
      {secret && <Once key={secret.values[2][1]} of={secret} done={() => show(undefined)} />}
      <ul class="list bx-list">
        {users?.map((u) => (
          <li key={u.name}>
            <span class="grow"><strong>{u.name}</strong><br /><small>{u.home_assistant ? t("bxMqttAssists") : u.topic_prefix + "/#"} · {t("phoneSince", { time: when(u.created_at) })}</small></span>
            <Doing text={<>{t("removeYes")}<span class="hidden"> {u.name}</span></>} run={() => remove(u)} />
          </li>
        ))}
      </ul>
      {users && (
        <New title={t("bxMqttNew")} open={users.length === 0}>
          <Fields main yes={t("bxMake")} send={make}>
            <label for={id + "n"}>{t("suName")}</label>
            <input id={id + "n"} name="name" autocomplete="off" maxLength={64} required />
            <label class="check"><input type="checkbox" checked={assists} onChange={() => setAssists(!assists)} /> {t("bxMqttAssists")}</label>
            {!assists && (
              <>
                <label for={id + "p"}>{t("bxPrefix")}</label>
                <input id={id + "p"} name="prefix" autocomplete="off" maxLength={128} aria-describedby={id + "h"} />
                <small id={id + "h"}>{t("bxPrefixHint")}</small>
              </>
            )}
          </Fields>
        </New>
      )}
    </BoxPage>
  );
}
