import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { readImports } from '../../test/architecture/sources.ts';

type Size = { readonly lines: number; readonly files: number };

export type House = {
  /** The lines and files of each folder of `src/`, and of files beside the folders. */
  readonly rooms: Readonly<Record<string, Size>>;
  readonly simulator: Size;
  readonly test: Size;
  readonly docs: { readonly words: number };
  readonly drawing: {
    /** The longest chain of rooms that import from each other. */
    readonly floors: number;
    /** The number of pairs of rooms with imports between them. */
    readonly arrows: number;
    /** The number of imports between rooms in a circle. */
    readonly upward: number;
    /** Groups of files that import each other, including types. */
    readonly circles: number;
  };
};

type File = { readonly path: string; readonly text: string };

const top = new URL('../../', import.meta.url);

/** Lists the files that git tracks or would add. */
export function readHouse(): House {
  const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: top })
    .toString()
    .split('\n');
  const read = (path: string): File => ({ path, text: readFileSync(new URL(path, top), 'utf8') });
  const isThere = (path: string): boolean => {
    try {
      return read(path).text.length > 0;
    } catch {
      return false;
    }
  };
  return measureHouse(paths.filter((path) => /\.(?:ts|md)$/.test(path) && isThere(path)).map(read));
}

function measureHouse(files: readonly File[]): House {
  const code = files.filter(({ path }) => path.endsWith('.ts'));
  const source = code.filter(({ path }) => roomOf(path) !== undefined);
  const simulator = code.filter(({ path }) => path.startsWith('simulator/'));
  const product = source.filter((file) => !simulator.includes(file));
  const names = [...new Set(product.map(({ path }) => roomOf(path) ?? ''))].toSorted();
  return {
    rooms: Object.fromEntries(names.map((name) => [name, toSize(product.filter(({ path }) => roomOf(path) === name))])),
    simulator: toSize(simulator),
    test: toSize(code.filter(({ path }) => path.startsWith('test/'))),
    docs: { words: countWords(files.filter(({ path }) => /^(?:docs\/[^/]+|README)\.md$/.test(path))) },
    drawing: draw([...product, ...simulator]),
  };
}

function draw(files: readonly File[]): House['drawing'] {
  const known = new Set(files.map(({ path }) => path));
  const imports = new Map(
    files.map(({ path, text }) => [
      path,
      readImports(text)
        .map(({ target }) => posix.join(posix.dirname(path), target))
        .filter((target) => known.has(target)),
    ]),
  );
  const rooms = new Map<string, Set<string>>();
  for (const [path, targets] of imports) {
    const from = toPlace(path);
    const arrows = rooms.get(from) ?? new Set();
    rooms.set(from, arrows);
    for (const target of targets) if (toPlace(target) !== from) arrows.add(toPlace(target));
  }
  const circlesOfRooms = findGroups(rooms);
  const isUpward = (from: string, to: string): boolean =>
    circlesOfRooms.some((group) => group.includes(from) && group.includes(to));
  const arrows = [...rooms].flatMap(([from, targets]) => [...targets].map((to) => ({ from, to })));
  return {
    floors: countFloors(rooms, circlesOfRooms),
    arrows: arrows.length,
    upward: arrows.filter(({ from, to }) => isUpward(from, to)).length,
    circles: findGroups(imports).length,
  };
}

/** Finds groups of several nodes that all reach each other: Tarjan's algorithm, recursive because the graphs are small. */
function findGroups(graph: ReadonlyMap<string, Iterable<string>>): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  function visit(node: string): void {
    order.set(node, order.size);
    low.set(node, order.get(node) ?? 0);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(node) !== order.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1) groups.push(group);
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return groups;
}

function countFloors(rooms: ReadonlyMap<string, Set<string>>, circles: readonly (readonly string[])[]): number {
  const floors = new Map<string, number>();
  function floorOf(room: string): number {
    const known = floors.get(room);
    if (known !== undefined) return known;
    const group = circles.find((circle) => circle.includes(room)) ?? [room];
    const below = group.flatMap((one) => [...(rooms.get(one) ?? [])]).filter((one) => !group.includes(one));
    const floor = 1 + Math.max(0, ...below.map(floorOf));
    for (const one of group) floors.set(one, floor);
    return floor;
  }
  return Math.max(0, ...[...rooms.keys()].map(floorOf));
}

// Returns the room of a file: its folder in `src/`. In the drawing, each file beside the folders is a room of its own.
function roomOf(path: string): string | undefined {
  const [folder, room, ...rest] = path.split('/');
  if (folder !== 'src' || room === undefined) return undefined;
  return rest.length > 0 ? room : 'src';
}

function toPlace(path: string): string {
  return path.startsWith('src/') ? (path.split('/')[1] ?? '') : (path.split('/')[0] ?? '');
}

function toSize(files: readonly File[]): Size {
  const lines = files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
  return { lines, files: files.length };
}

function countWords(files: readonly File[]): number {
  return files.reduce(
    (sum, { text }) => sum + text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length,
    0,
  );
}
