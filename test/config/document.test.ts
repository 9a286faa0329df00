import { describe, expect, it } from 'vitest';
import { generalOptions } from '../../src/config/declare/options.ts';
import { fc } from '../support/property.ts';
import { complain, loadIn } from './fixtures.ts';

const keysOfWeb = Object.keys(generalOptions.web).toSorted().join(', ');
const bomb = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...'bcdefghijklmno'.split('').map((letter, index) => {
    const before = 'abcdefghijklmn'[index] ?? '';
    return `${letter}: &${letter} [${Array.from({ length: 6 }, () => `*${before}`).join(', ')}]`;
  }),
  'log: { level: *o }',
].join('\n');

describe('config/document', () => {
  it.each([
    {
      name: 'an open list',
      yaml: 'web: [a\n',
      complaints: [
        'config.yaml:2:1: is not YAML: flow sequence in block collection must be sufficiently indented and end with a ]',
      ],
    },
    {
      name: 'a tab',
      yaml: 'web:\n\tlisten_address: ":1"\n',
      complaints: ['config.yaml:2:1: is not YAML: tabs are not allowed as indentation'],
    },
    {
      name: 'two documents',
      yaml: 'log: {}\n---\nlog: {}\n',
      complaints: [
        'config.yaml:2:1: is not YAML: source contains multiple documents; please use YAML.parseAllDocuments()',
      ],
    },
    {
      name: 'an unknown tag',
      yaml: 'log: { level: !env LEVEL }\n',
      complaints: [
        'config.yaml:1:15: is not YAML: unresolved tag: !env',
        'config.yaml:1:20 log.level: takes one of debug, info, warn, error, found the text "LEVEL"',
      ],
    },
    {
      name: 'an unknown anchor',
      yaml: 'log: { level: *here }\n',
      complaints: ['config.yaml:1:15 log.level: "*here" has no anchor before it'],
    },
    {
      name: 'a list',
      yaml: '- a\n',
      complaints: ['config.yaml:1:1: takes a map, found a list (write its keys below it, indented)'],
    },
    {
      name: 'a text',
      yaml: 'hello',
      complaints: ['config.yaml:1:1: takes a map, found a text (write its keys below it, indented)'],
    },
    {
      name: 'a key that is a map',
      yaml: '? { a: 1 }\n: 2\n',
      complaints: ['config.yaml:1:3: has a key that is not plain text'],
    },
    {
      name: 'servers as a map',
      yaml: 'servers: { prod: {} }\n',
      complaints: ['config.yaml:1:10 servers: takes a list, found a map (begin each server with "- name:")'],
    },
    {
      name: 'a server as a text',
      yaml: 'servers: [k3y-in-the-wrong-place]\n',
      complaints: ['config.yaml:1:11 servers[0]: takes a map, found a text (write its keys below it, indented)'],
    },
    {
      name: 'keys that every object has',
      yaml: 'web: { constructor: {}, __proto__: { polluted: 1 } }\n',
      complaints: [
        `config.yaml:1:8 web.constructor: is not a known key (known here: ${keysOfWeb})`,
        `config.yaml:1:25 web.__proto__: is not a known key (known here: ${keysOfWeb})`,
      ],
    },
    {
      name: 'merging',
      yaml: 'x: &x { level: info }\nlog: { <<: *x }\n',
      complaints: [
        'config.yaml:1:1 x: is not a known key (known here: alerts, collectors, diagnosis, executions, jobs, log, metrics, schedule, servers, state, traces, web)',
        'config.yaml:2:8 log."<<": is not a known key (known here: format, level)',
      ],
    },
    {
      name: 'strange keys',
      yaml: '"a b\\u0000": 1\nconstructor: 1\ntoString: 1\n"": 1\n',
      complaints: [
        'config.yaml:1:1 "a b\\u0000": is not a known key (known here: alerts, collectors, diagnosis, executions, jobs, log, metrics, schedule, servers, state, traces, web)',
        'config.yaml:2:1 constructor: is not a known key (known here: alerts, collectors, diagnosis, executions, jobs, log, metrics, schedule, servers, state, traces, web)',
        'config.yaml:3:1 toString: is not a known key (known here: alerts, collectors, diagnosis, executions, jobs, log, metrics, schedule, servers, state, traces, web)',
        'config.yaml:4:1 "": is not a known key (known here: alerts, collectors, diagnosis, executions, jobs, log, metrics, schedule, servers, state, traces, web)',
      ],
    },
  ])('complains about $name', async ({ yaml, complaints }) => {
    expect(await complain({ yaml })).toEqual(complaints);
  });

  it.each([
    { name: 'nothing', yaml: '' },
    { name: 'comments', yaml: '# later\n' },
    { name: 'empty sections', yaml: 'servers:\ncollectors:\nweb:\nlog:\n' },
    { name: 'null', yaml: 'null\n' },
    { name: 'a byte order mark', yaml: '\uFEFFlog: { level: info }\n' },
    { name: 'carriage returns', yaml: 'log:\r\n  level: info\r\n' },
    {
      name: 'an alias',
      yaml: 'log: { level: &level info }\nweb: { telemetry_path: &path /metrics }\ncollectors: { system-info: &same { every: 1m }, execution-mode: *same }\n',
    },
  ])('accepts $name', async ({ yaml }) => {
    expect(await complain({ yaml })).toEqual([]);
  });

  it('reads aliases of aliases quickly', async () => {
    expect((await complain({ yaml: bomb })).at(-1)).toBe(
      'config.yaml:16:15 log.level: takes one of debug, info, warn, error, found a list',
    );
  });

  it.each([
    {
      name: 'depth',
      yaml: `log: ${'['.repeat(25)}${']'.repeat(25)}`,
      complaint:
        'config.yaml:1:25 log[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: is nested more than 20 levels deep',
    },
    { name: 'size', yaml: `#${'x'.repeat(1024 * 1024)}`, complaint: 'config.yaml: is larger than 1 MiB' },
    {
      name: 'aliases',
      yaml: `log: { level: &a info }\nweb: [${'*a, '.repeat(101)}]`,
      complaint: 'config.yaml:2:407 web[100]: is one alias more than allowed (at most 100)',
    },
  ])('limits $name', async ({ yaml, complaint }) => {
    expect((await complain({ yaml })).at(-1)).toBe(complaint);
  });

  it('reports a text that is nested too deep for the parser', async () => {
    const [first] = await complain({ yaml: `log: ${'['.repeat(20_000)}` });
    expect(first).toMatch(/^config\.yaml(:1:\d+)?: is nested too deeply$/);
  });

  it('finds duplicates among many keys quickly', async () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => `k${index}: 1`).join('\n');
    expect(await complain({ yaml: `${keys}\nlog: {}\nlog: {}\n` })).toHaveLength(10_001);
  });

  it('returns a configuration or complaints for any text', async () => {
    const words = fc.constantFrom(
      'servers',
      'url',
      'web',
      'log',
      'level',
      '__proto__',
      'constructor',
      'collectors',
      'every',
      ':',
      ': ',
      '- ',
      '\n',
      '\n  ',
      '{',
      '}',
      '[',
      ']',
      '&a ',
      '*a',
      '!!map ',
      '"',
      "'",
      '|',
      '>',
      '#',
      '? ',
      '<<',
      '\t',
      '15s',
      'null',
      '~',
      '%',
      '@',
      ',',
      '---\n',
      '\u0000',
    );
    const texts = fc.oneof(
      fc.uint16Array({ maxLength: 20 }).map((units) => String.fromCharCode(...units)),
      fc.array(words, { maxLength: 40 }).map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (yaml) => {
        const loaded = await loadIn({ yaml });
        expect(loaded.ok || loaded.complaints.length > 0).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('returns a configuration or complaints for any tree of values', async () => {
    const key = fc.constantFrom(
      'servers',
      'collectors',
      'web',
      'log',
      'state',
      'level',
      'name',
      'url',
      'token_file',
      'listen_address',
      'system-info',
      'every',
      'labels',
      'projects',
      'include',
      'match',
      'members',
      'jobs',
      'metrics',
      'automation_projects',
      'drop_labels',
      'buckets',
      '__proto__',
      'constructor',
      'prototype',
      'polluted',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, 15, '15s', 'info', 'http://a'),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie('tree')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(tree, async (value) => {
        const loaded = await loadIn({ yaml: JSON.stringify(value) });
        expect(loaded.ok || loaded.complaints.length > 0).toBe(true);
      }),
      { numRuns: 300 },
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect('polluted' in {}).toBe(false);
  });
});
