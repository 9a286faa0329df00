import type { Endpoint } from '../../api/endpoint.ts';
import { projectJobs } from '../../api/endpoints/jobs.ts';
import { projects } from '../../api/endpoints/projects.ts';
import { executionMode, systemInfo } from '../../api/endpoints/system.ts';
import type { Reading } from './deciding/areas.ts';
import { areas, toFields } from './deciding/kinds.ts';

/** An answer of the server, whichever poll requested it. */
export type Answer = {
  /** The member that answered; undefined if any may have. */
  readonly member: string | undefined;
  readonly endpoint: Endpoint<unknown>;
  readonly path: Readonly<Record<string, string | undefined>>;
  readonly answer: unknown;
};

type Seen = Omit<Reading, 'fromMs' | 'throughMs'>;

/** Returns the state of the area that an answer shows; undefined if it shows none. */
export function createToReading(): (answer: Answer) => Seen | undefined {
  const uuids = new Map<string, string>();

  return ({ member, endpoint, path, answer }) => {
    if (isOf(systemInfo, endpoint, answer)) {
      const { server, stats, executionMode: mode } = answer;
      const uuid = server.serverUUID ?? '';
      if (member !== undefined) uuids.set(member, uuid);
      const name = member ?? (uuid === '' ? '' : (server.node ?? uuid));
      const start = stats.uptime.since?.toString();
      const things = new Map([[uuid, toFields({ release: server.version, start, mode, '.name': name })]]);
      return { area: areas.server, things, isPart: true };
    }
    if (isOf(executionMode, endpoint, answer)) {
      const uuid = member === undefined ? '' : uuids.get(member);
      if (uuid === undefined) return undefined;
      return { area: areas.server, things: new Map([[uuid, toFields({ mode: answer })]]), isPart: true };
    }
    if (isOf(projects, endpoint, answer)) {
      const things = answer.map(({ name, executionsEnabled, scheduleEnabled }) => {
        const fields = { executions: toSwitch(executionsEnabled), schedule: toSwitch(scheduleEnabled) };
        return [name, toFields(fields)] as const;
      });
      return { area: areas.projects, things: new Map(things) };
    }
    const { project } = path;
    if (isOf(projectJobs, endpoint, answer) && project !== undefined) {
      const things = answer.map(({ id, group, name, isEnabled, isScheduleEnabled, ownerUuid }) => {
        const jobPath = group === '' ? name : `${group}/${name}`;
        const switches = { executions: toSwitch(isEnabled), schedule: toSwitch(isScheduleEnabled) };
        return [id, toFields({ path: jobPath, ...switches, owner: ownerUuid })] as const;
      });
      return { area: areas.jobsOf(project), things: new Map(things) };
    }
    return undefined;
  };
}

function toSwitch(isOn: boolean | undefined): string | undefined {
  return isOn === undefined ? undefined : isOn ? 'on' : 'off';
}

function isOf<Content>(wanted: Endpoint<Content>, endpoint: Endpoint<unknown>, answer: unknown): answer is Content {
  return wanted.name === endpoint.name && answer !== null && answer !== undefined;
}
