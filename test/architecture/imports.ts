import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import type { Room } from './rooms.ts';
import { type Import, readImports, type Source } from './sources.ts';

/** What of Node reaches out of the process; a room names it as it names a package. */
const outward = ['child_process', 'cluster', 'dgram', 'dns', 'http', 'http2', 'https', 'net', 'sqlite', 'tls'];

/** One sentence for each import that the table does not allow, and for each file that has no room. */
export function findWrongImports(sources: readonly Source[], rooms: readonly Room[]): readonly string[] {
  return sources.flatMap((source) => {
    const room = roomOf(source.path, rooms);
    if (room === undefined) return [`${source.path} has no room: add a row to test/architecture/rooms.ts.`];
    return readImports(source.text)
      .filter((found) => !isAllowed(found, source.path, room))
      .map((found) => toSentence(found, source.path, { room, rooms }));
  });
}

/** The rooms that may use a package. */
export function homesOf(target: string, rooms: readonly Room[]): readonly string[] {
  const homes = rooms.filter((room) => room.packages?.some((name) => isNamed(target, name)));
  return homes.map((room) => room.room);
}

function roomOf(path: string, rooms: readonly Room[]): Room | undefined {
  const place = toPlace(path);
  const fitting = rooms.filter((room) => isBelow(place, room.room));
  return fitting.toSorted((a, b) => b.room.length - a.room.length)[0];
}

function isAllowed({ target, typeOnly }: Import, path: string, room: Room): boolean {
  const types = typeOnly ? (room.types ?? []) : [];
  if (target.startsWith('.')) {
    const place = toPlace(resolve(target, path));
    return [room.room, ...(room.knows ?? []), ...types].some((known) => isBelow(place, known));
  }
  if (isBuiltin(target) && !isOutward(target)) return room.pure !== true;
  return [...(room.packages ?? []), ...types].some((name) => isNamed(target, name));
}

function toSentence({ target }: Import, path: string, { room, rooms }: { room: Room; rooms: readonly Room[] }): string {
  const shown = target === '?' ? 'something computed' : target.startsWith('.') ? resolve(target, path) : target;
  const known = [...(room.knows ?? []), ...(room.packages ?? [])];
  const types = room.types === undefined ? [] : [`the types of ${room.types.join(', ')}`];
  const all = [...(known.length > 0 ? [known.join(', ')] : []), ...types].join(' and ');
  const homes = target.startsWith('.') ? [] : homesOf(target, rooms);
  const home = homes.length > 0 ? ` The home of ${target} is ${homes.join(', ')}.` : '';
  return `${path} imports ${shown}: the room ${room.room} may know ${all === '' ? 'nothing' : `only ${all}`}.${home}`;
}

function isOutward(target: string): boolean {
  return outward.includes(target.replace('node:', '').split('/')[0] ?? '');
}

function isNamed(target: string, name: string): boolean {
  if (name.endsWith('/*')) return target.startsWith(name.slice(0, -1));
  return target === name || target.startsWith(`${name}/`);
}

function resolve(target: string, path: string): string {
  return posix.join(posix.dirname(path), target);
}

// A file outside of src keeps its whole path, so that no row ever fits it.
function toPlace(path: string): string {
  return path.replace(/^src\//, '').replace(/\.ts$/, '');
}

function isBelow(place: string, room: string): boolean {
  return place === room || place.startsWith(`${room}/`);
}
