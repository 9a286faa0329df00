import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const source = join(import.meta.dirname, '..', '..', 'src');
const map = readFileSync(join(source, 'README.md'), 'utf8');

describe('repository/map', () => {
  it('names existing files', () => {
    const named = [...map.matchAll(/`((?!test\/)[a-z/-]+\.ts)`/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(30);
    const folders = readdirSync(source, { recursive: true, encoding: 'utf8' });
    const isThere = (path: string) =>
      existsSync(join(source, path)) ||
      existsSync(join(source, '..', path)) ||
      folders.some((file) => file.endsWith(`/${path}`));
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  it('has a row for every room', () => {
    const rooms = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const rows = [...map.matchAll(/^\| (?:[^|]*?)`([a-z-]+)\/`/gm)].map(([, name]) => name);
    const named = [...map.matchAll(/`([a-z-]+)\/`/g)].map(([, name]) => name);
    expect(rows.length).toBeGreaterThan(10);
    expect(rooms.map(({ name }) => name).filter((name) => !named.includes(name))).toEqual([]);
  });

  it('names existing functions in the life of an execution', () => {
    const stations = [...map.matchAll(/^\| \d \| [^|]+ \| ([^|]+) \| ([^|]+) \|$/gm)];
    expect(stations).toHaveLength(8);
    for (const [, files = '', functions = ''] of stations) {
      const names = [...functions.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
      const texts = [...files.matchAll(/`([^`]+)`/g)].map(([, path = '']) => readFileSync(join(source, path), 'utf8'));
      for (const name of names) expect(texts.join('')).toMatch(new RegExp(`function ${name}\\b`));
    }
  });

  it('limits the glossary to 20 words', () => {
    const words = /## Words\n([^]*?)\n## /.exec(map)?.[1] ?? '';
    expect(words.split('\n').filter((line) => line.startsWith('| ')).length - 1).toBeLessThanOrEqual(20);
  });

  it('numbers decisions consecutively, each with a choice, its context and its price', () => {
    const text = readFileSync(join(source, '..', 'docs', 'decisions.md'), 'utf8');
    const decisions = text.split(/^(?=\d+\. )/m).slice(1);
    expect(decisions.map((decision) => Number.parseInt(decision, 10))).toEqual(decisions.map((_, index) => index + 1));
    const shape = /^\d+\. \*\*[^*]+\.\*\* (?:(?!\. [A-Z`])[^])+\. Price: (?:(?!\. [A-Z`])[^])+\.$/;
    const plain = decisions.map((decision) => decision.replaceAll(/\s+/g, ' ').trim());
    expect(plain.filter((decision) => !shape.test(decision))).toEqual([]);
  });
});
