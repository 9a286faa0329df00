import { describe, expect, it } from 'vitest';
import { readRequest } from '../../../simulator/traces/read-request.ts';
import { encode, planned, startMs, traceId } from './some-spans.ts';

const root = planned({
  id: '00000000000000aa',
  parentId: undefined,
  name: 'RUN pay/nightly/settle',
  kind: 'server',
  endMs: startMs + 12_345,
  isError: true,
  attributes: { 'cicd.pipeline.result': 'failure', 'automation.execution.adhoc': false, count: -3, ratio: 0.25 },
  links: [{ traceId: 'ff'.repeat(16), spanId: 'ee'.repeat(8), attributes: { 'automation.link': 'retried_by' } }],
});
const step = planned({ id: '00000000000000bb', parentId: root.id, name: 'Überweisen 時', startMs: startMs + 5000.5 });

describe('simulator/traces/read-request', () => {
  it('reads the requests that the exporter writes', () => {
    const bytes = encode([root, step], { resource: { 'service.name': 'automation-service', replica: 2 } });
    const resource = new Map([
      ['service.name', 'automation-service'],
      ['replica', '2'],
    ]);
    expect(readRequest(bytes).map(({ bytes: _bytes, ...span }) => span)).toEqual([
      {
        traceId,
        id: '00000000000000aa',
        parentId: '',
        name: 'RUN pay/nightly/settle',
        startMs: 1_768_478_400_000,
        endMs: 1_768_478_412_345,
        isError: true,
        attributes: new Map([
          ['cicd.pipeline.result', 'failure'],
          ['automation.execution.adhoc', 'false'],
          ['count', '-3'],
          ['ratio', '0.25'],
        ]),
        links: [{ traceId: 'ff'.repeat(16), attributes: new Map([['automation.link', 'retried_by']]) }],
        resource,
      },
      {
        traceId,
        id: '00000000000000bb',
        parentId: '00000000000000aa',
        name: 'Überweisen 時',
        startMs: 1_768_478_405_000.5,
        endMs: 1_768_478_401_000,
        isError: false,
        attributes: new Map(),
        links: [],
        resource,
      },
    ]);
  });

  it('reads joined requests', () => {
    const other = encode([step], { id: '11'.repeat(16) });
    const spans = readRequest(Buffer.concat([encode([root]), other]));
    expect(spans.map((span) => `${span.traceId} ${span.id}`)).toEqual([
      '0123456789abcdef0123456789abcdef 00000000000000aa',
      '11111111111111111111111111111111 00000000000000bb',
    ]);
  });

  it('reports the size of each span in the request', () => {
    const bytes = encode([root, step], { resource: { text: 'x'.repeat(10_000) } });
    const sizes = readRequest(bytes).map((span) => span.bytes);
    expect(Math.min(...sizes)).toBeGreaterThan(5000);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(bytes.length);
  });

  it.each([
    ['text', [field(1, 'héll')], 'héll'],
    ['a large number', [number(3, 2n ** 63n - 1n)], '9223372036854775807'],
    ['a list', [field(5, field(1, field(1, 'a')), field(1, number(3, 5n)), field(1, number(2, 1n)))], '[a, 5, true]'],
    ['names and values', [field(6, field(1, field(1, 'a'), field(2, field(1, 'b'))))], '{a: b}'],
    ['bytes', [field(7, Buffer.from([1, 2, 3]))], 'AQID'],
    ['nothing', [], ''],
  ])('shows %s as text', (_what, value, shown) => {
    expect(readResource(value).get('name')).toBe(shown);
  });

  it('reads nested values up to a limit', () => {
    let value = field(1, 'deep');
    for (let depth = 0; depth < 1000; depth += 1) value = field(5, field(1, value));
    expect(readResource([value]).get('name')).toBe('[[[[[[…]]]]]]');
  });

  it.each([
    ['an id of another length', field(1, field(2, field(2, field(1, 'short')))), 'An id has 5 bytes, not 16.'],
    ['a number for an id', field(1, field(2, field(2, number(1, 5n)))), 'A field is a number where it should not be.'],
    ['an unknown wire type', Buffer.from([0x0b]), 'No field has the wire type 3.'],
    ['a number that does not end', Buffer.alloc(20, 0xff), 'A number is longer than ten bytes.'],
    ['a length beyond its end', Buffer.from([0x0a, 0x7f, 1]), 'A field is longer than its message.'],
  ])('refuses %s', (_what, bytes, message) => {
    expect(() => readRequest(bytes)).toThrow(message);
  });

  it('refuses requests that are cut at any place', () => {
    const bytes = encode([root, step], { resource: { 'service.name': 'automation-service' } });
    const outcomes = Array.from({ length: bytes.length }, (_, size) => {
      try {
        return readRequest(bytes.subarray(0, size)).length;
      } catch (error) {
        return error instanceof Error;
      }
    });
    expect(outcomes).toEqual([0, ...Array.from({ length: bytes.length - 1 }, () => true)]);
  });
});

/** Returns the content of a resource with one attribute. */
function readResource(value: readonly Buffer[]): ReadonlyMap<string, string> {
  const resource = field(1, field(1, field(1, 'name'), field(2, ...value)));
  const span = field(2, field(1, Buffer.alloc(16, 1)), field(2, Buffer.alloc(8, 1)));
  return readRequest(field(1, resource, field(2, span)))[0]?.resource ?? new Map();
}

/** Writes a field that contains text, bytes or fields, in the format of protobuf. */
function field(place: number, ...content: readonly (string | Buffer)[]): Buffer {
  const bytes = Buffer.concat(content.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return Buffer.concat([Buffer.from([place * 8 + 2]), varint(BigInt(bytes.length)), bytes]);
}

function number(place: number, value: bigint): Buffer {
  return Buffer.concat([Buffer.from([place * 8]), varint(value)]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let left = value; left > 0 || bytes.length === 0; left >>= 7n) {
    bytes.push(Number(left & 0x7fn) | (left > 0x7fn ? 0x80 : 0));
  }
  return Buffer.from(bytes);
}
