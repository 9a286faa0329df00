import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import type { Room } from './rooms.ts';
import { type Import, readImports, type Source } from './sources.ts';

/** Node modules that reach out of the process; a room lists them like packages. */
const outward = ['child_process', 'cluster', 'dgram', 'dns', 'http', 'http2', 'https', 'net', 'sqlite', 'tls'];

type InTable = { readonly room: Room; readonly rooms: readonly Room[] };

/** One sentence for each import that the table does not allow, and for each file that has no room. */
export function findWrongImports(sources: readonly Source[], rooms: readonly Room[]): readonly string[] {
  return sources.flatMap((source) => {
    const room = roomOf(source.path, rooms);
    if (room === undefined) return [`${source.path} has no room: add a row to test/architecture/rooms.ts.`];
    return readImports(source.text)
      .filter((found) => !isAllowed(found, source.path, { room, rooms }))
      .map((found) => toSentence(found, source.path, { room, rooms }));
  });
}

export function homesOf(target: string, rooms: readonly Room[]): readonly string[] {
  const homes = rooms.filter((room) => room.packages?.some((name) => isNamed(target, name)));
  return homes.map((room) => room.room);
}

/** One sentence for each permission that no file of its room needs. */
export function findUnusedPermissions(sources: readonly Source[], rooms: readonly Room[]): readonly string[] {
  return rooms.flatMap((room) => {
    const imports = sources
      .filter(({ path }) => roomOf(path, rooms) === room)
      .flatMap(({ path, text }) => readImports(text).map((found) => ({ ...found, path })));
    const isUsed = (name: string, wantsValue: boolean): boolean =>
      imports.some(
        ({ target, typeOnly, path }) =>
          (!wantsValue || !typeOnly) &&
          (target.startsWith('.') ? isBelow(toPlace(resolve(target, path)), name) : isNamed(target, name)),
      );
    return [
      ...(room.knows ?? [])
        .filter((name) => !isUsed(name, true))
        .map(
          (name) => `${room.room} may import ${name}, but imports no value of it: allow only its types, or nothing.`,
        ),
      ...(room.types ?? [])
        .filter((name) => !isUsed(name, false))
        .map((name) => `${room.room} may import the types of ${name}, but imports none.`),
      ...(room.packages ?? [])
        .filter((name) => !isUsed(name, true))
        .map((name) => `${room.room} may use ${name}, but does not.`),
    ];
  });
}

/** One sentence for each file that no other file imports. */
export function findUnusedFiles(sources: readonly Source[], entries: readonly string[]): readonly string[] {
  const used = new Set(
    sources.flatMap(({ path, text }) => readImports(text).map(({ target }) => resolve(target, path))),
  );
  return sources
    .filter(({ path }) => !used.has(path) && !entries.includes(path))
    .map(({ path }) => `${path} is imported by nothing: put it into its list, or remove it.`);
}

/** Circles of rooms that import values from each other. */
export function findCircles(sources: readonly Source[], rooms: readonly Room[]): readonly string[] {
  const floorOf = (path: string): string => roomOf(path, rooms)?.room ?? '';
  const arrows = new Map<string, Set<string>>();
  for (const { path, text } of sources) {
    for (const { target, typeOnly } of readImports(text)) {
      if (typeOnly || !target.startsWith('.')) continue;
      const from = floorOf(path);
      const to = floorOf(resolve(target, path));
      if (from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
    }
  }
  const circles = new Set<string>();
  const done = new Set<string>();
  function follow(room: string, way: readonly string[]): void {
    const at = way.indexOf(room);
    if (at >= 0) circles.add([...way.slice(at), room].join(' → '));
    if (at >= 0 || done.has(room)) return;
    for (const next of arrows.get(room) ?? []) follow(next, [...way, room]);
    done.add(room);
  }
  for (const room of arrows.keys()) follow(room, []);
  return [...circles];
}

function roomOf(path: string, rooms: readonly Room[]): Room | undefined {
  const place = toPlace(path);
  const fitting = rooms.filter((room) => isBelow(place, room.room));
  return fitting.toSorted((a, b) => b.room.length - a.room.length)[0];
}

function isAllowed({ target, typeOnly }: Import, path: string, { room, rooms }: InTable): boolean {
  const above = rooms.slice(0, rooms.indexOf(room)).flatMap((other) => (other.apart === true ? [] : [other.room]));
  const types = typeOnly ? [...(room.types ?? []), ...above] : [];
  if (target.startsWith('.')) {
    const place = toPlace(resolve(target, path));
    return [room.room, ...(room.knows ?? []), ...types].some((known) => isBelow(place, known));
  }
  if (isBuiltin(target) && !isOutward(target)) return room.pure !== true;
  return [...(room.packages ?? []), ...types].some((name) => isNamed(target, name));
}

function toSentence({ target }: Import, path: string, { room, rooms }: InTable): string {
  const shown = target === '?' ? 'something computed' : target.startsWith('.') ? resolve(target, path) : target;
  const known = [...(room.knows ?? []), ...(room.packages ?? [])];
  const types = room.types === undefined ? [] : [`the types of ${room.types.join(', ')}`];
  const all = [...(known.length > 0 ? [known.join(', ')] : []), ...types].join(' and ');
  const homes = target.startsWith('.') ? [] : homesOf(target, rooms);
  const home = homes.length > 0 ? ` The home of ${target} is ${homes.join(', ')}.` : '';
  return `${path} imports ${shown}: the room ${room.room} may import ${all === '' ? 'nothing' : `only ${all}`}.${home}`;
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

// Of all rows, only the one of the simulator is outside of `src/`.
function toPlace(path: string): string {
  return path.replace(/^src\//, '').replace(/\.ts$/, '');
}

function isBelow(place: string, room: string): boolean {
  return place === room || place.startsWith(`${room}/`);
}
