import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { createLineWriter } from '../../src/commands/run-app.ts';

let written: string[];
let told: number[];

class Stream extends EventEmitter {
  writableLength = 0;
  write(text: string): void {
    written.push(text);
    this.writableLength += text.length;
  }
}

beforeEach(() => {
  written = [];
  told = [];
});

describe('commands/line-writer', () => {
  it('keeps at most 256 KB for a stalled reader, and reports what was dropped when it reads again', () => {
    const stream = new Stream();
    const write = createLineWriter(stream, (dropped) => told.push(dropped));
    for (let line = 0; line < 1000; line++) write('x'.repeat(1024));
    expect(written).toHaveLength(257);
    expect(told).toEqual([]);

    stream.writableLength = 0;
    stream.emit('drain');
    expect(told).toEqual([743]);
    write('again');
    expect(written.at(-1)).toBe('again');
    expect(told).toEqual([743]);
  });

  it('stops writing to a reader that is gone', () => {
    const stream = new Stream();
    const write = createLineWriter(stream, (dropped) => told.push(dropped));
    write('one');
    stream.emit('error');
    write('two');
    expect(written).toEqual(['one']);
  });
});
