import { child, children, type Node, nameOf, parseSource } from '../../scripts/mutate/syntax.ts';
import type { Source } from './sources.ts';

type Shape = { readonly path: string; readonly name: string; readonly isExported: boolean; readonly members: string };

/**
 * One sentence for each shape that is declared in several files, if one of the declarations could be imported. The simulator
 * does not count: it shares nothing with the rest.
 */
export function findTwinTypes(sources: readonly Source[]): readonly string[] {
  const shapes = new Map<string, Shape[]>();
  for (const source of sources.filter(({ path }) => !path.startsWith('simulator/'))) {
    for (const shape of shapesOf(source)) shapes.set(shape.members, [...(shapes.get(shape.members) ?? []), shape]);
  }
  return [...shapes.values()].flatMap((twins) => {
    const isOneIdea = new Set(twins.map(({ path }) => path)).size === 1 || twins.every(({ isExported }) => !isExported);
    if (isOneIdea) return [];
    const places = twins.map(({ path, name }) => `${name} of ${path}`).join(' and ');
    return [`${places} have the same shape: declare it once and import the type.`];
  });
}

/** Object types with at least two members, at the top of a file. */
function* shapesOf({ path, text }: Source): Generator<Shape> {
  for (const statement of children(parseSource(text), 'body')) {
    const isExported = statement.type === 'ExportNamedDeclaration';
    const declared = isExported ? child(statement, 'declaration') : statement;
    const literal = declared && child(declared, 'typeAnnotation');
    if (declared?.type !== 'TSTypeAliasDeclaration' || literal?.type !== 'TSTypeLiteral') continue;
    const members = children(literal, 'members').map((member) => toShape(text, member));
    if (members.length < 2) continue;
    yield { path, name: nameOf(child(declared, 'id')), isExported, members: members.toSorted().join(';') };
  }
}

/** A member without comments, spaces and `readonly`. */
function toShape(text: string, { start, end }: Node): string {
  return text
    .slice(start, end)
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\breadonly\b|[\s;]+/g, '');
}
