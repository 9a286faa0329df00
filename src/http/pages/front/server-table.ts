import type { ServerStatus, TargetStatus } from '../../../status/status.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';
import { isInTrouble, isQuietlyOff, renderMode, renderState, renderTime, toAnchor } from './server-state.ts';

/** Renders all servers. Each row links to the section of the server. */
export function renderServerTable(servers: readonly ServerStatus[]): Html {
  const rows = servers.map(
    (server) =>
      html`<tr><th scope="row"><a href="#${toAnchor(server.name)}"><bdi>${server.name}</bdi></a></th>${renderCells(server)}${renderRunning(server)}</tr>\n`,
  );
  return html`<section class="servers">
<h2>Servers</h2>
${toTable(['Server', 'State', 'Mode', 'Release', 'Collectors', numberHead('Runs now')], rows)}</section>
`;
}

export function renderMembers(members: readonly TargetStatus[], nowMs: number): Html | undefined {
  if (members.length === 0) return undefined;
  const rows = members.map(
    (member) =>
      html`<tr><th scope="row"><bdi>${member.name}</bdi></th>${renderCells(member)}${toCell(
        'Started',
        member.startedAtMs === undefined ? undefined : renderTime(member.startedAtMs, nowMs),
      )}${toCell('Address', html`${member.url}`)}</tr>\n`,
  );
  return html`<h3>Members</h3>
${toTable(['Member', 'State', 'Mode', 'Release', 'Collectors', 'Started', 'Address'], rows)}`;
}

function renderCells(target: TargetStatus): Html {
  const { release } = target;
  return html`<td data-is="State">${renderState(target)}</td>${toCell('Mode', renderMode(target))}${toCell(
    'Release',
    release === undefined ? undefined : html`${release}`,
  )}${toCell('Collectors', renderCollectorCount(target))}`;
}

/** Renders the number of failing collectors; nothing if the server is down, because all then fail. */
function renderCollectorCount({ state, collectors }: TargetStatus): Html | undefined {
  const polled = collectors.filter((collector) => !isQuietlyOff(collector));
  if (state !== 'up' || polled.length === 0) return undefined;
  const bad = polled.filter(isInTrouble).length;
  return bad === 0 ? html`${polled.length} ok` : html`<strong class="bad">✗ ${bad} of ${polled.length}</strong>`;
}

function renderRunning({ state, executions }: ServerStatus): Html {
  const isKnown = state === 'up' && executions?.runningSight === 'known';
  return isKnown
    ? html`<td data-is="Runs now" class="number">${executions.runningCount}</td>`
    : html`<td class="none"></td>`;
}

function toCell(name: string, value: Html | undefined): Html {
  return value === undefined ? html`<td class="none"></td>` : html`<td data-is="${name}">${value}</td>`;
}
