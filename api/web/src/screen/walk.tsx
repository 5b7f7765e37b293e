import { roomsOf, useDevices } from "../part/devicelist";
import { useInstallation } from "../part/installation";
import { useLinks } from "../part/linklist";
import { WalkPlot } from "../part/liveplot";
import { Waiting } from "../part/page";
import { mayInstall, SetupPage, type SetupProps } from "../part/setup";
import { placesOf, useWalk, Walk, walkSaid, type WalkTest } from "../part/walk";
import { su } from "../words/setup";

/** The walk test: which rooms sense that somebody walks. */
export function Screen(props: SetupProps) {
  if (!mayInstall(props)) return <SetupPage {...props} title="suWalk"><p class="note">{su("suOwnerOnly")}</p></SetupPage>;
  return <Shown {...props} />;
}

function Shown(props: SetupProps) {
  const devices = useDevices(props.home, 15);
  const links = useLinks(props.home, 15);
  const walk = useWalk(props.home, 2);
  const { felt } = useInstallation(props.home, { devices: devices.again, links: links.again, walk: walk.again });
  const running = walk.value?.running ?? false;
  const room = walk.value?.room;
  const shown = (links.value?.links ?? []).filter((l) => !room || l.zone === room);
  const ready = devices.value && links.value;
  return (
    <SetupPage {...props} title="suWalk" truth={truth(walk.value, running)}>
      {!ready ? <><Waiting answer={devices} />{!devices.refusal && <Waiting answer={links} />}</> : (
        <>
          {walk.refusal && <Waiting answer={walk} />}
          <Walk home={props.home} places={placesOf(links.value!.links, roomsOf(devices.value!.devices))} answer={walk} ts={devices.value!.ts} titled />
          {running && shown.length > 0 && <WalkPlot felt={felt} links={shown} label={su("suWalkLive")} />}
        </>
      )}
    </SetupPage>
  );
}

/** What the test says, in a sentence. */
function truth(test: WalkTest | undefined, running: boolean): string {
  const walked = test?.rooms.filter((r) => r.state === "seen" || r.state === "unseen") ?? [];
  if (running) return walkSaid(test!) || su("suWalkIntro");
  if (walked.length === 0) return su("suWalkIntro");
  if (walked.length === 1) return su(walked[0].state === "seen" ? "suWalkSeen" : "suWalkUnseen", { room: walked[0].room });
  const seen = walked.filter((r) => r.state === "seen").length;
  return seen === walked.length ? su("suWalkDoneAll", { total: seen }) : su("suWalkDone", { n: seen, total: walked.length });
}
