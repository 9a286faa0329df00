import { describe, expect, it } from 'vitest';
import { type CannedAnswer, scrapeCollector, shown } from '../support/scrape.ts';

const TEXT = { 'content-type': 'text/plain;charset=utf-8' };

// As releases 3 to 5 write threads: a line, then locks and stack.
const dump = `"main" id=1 state=RUNNABLE (running in native)
    at java.net.PlainSocketImpl.accept(Native Method)

"quartzScheduler_Worker-1" id=41 state=TIMED_WAITING
    - waiting on <0x1a2b3c4d> (a java.lang.Object)
    - locked <0x1a2b3c4d> (a java.lang.Object)
    at java.lang.Object.wait(Native Method)

"quartzScheduler_Worker-2" id=42 state=TIMED_WAITING

"pool-1 "a" id=7 state=NEW" id=43 state=BLOCKED
    - waiting to lock <0x00000001> (a x.Y)
      owned by "main" id=1 state=WAITING

`;

describe('collectors/threads', () => {
  it.each<readonly [string, CannedAnswer]>([
    ['the text dump of releases 3 to 5, whatever a thread is called', { headers: TEXT, body: dump }],
    ['a dump with the line ends of another system', { headers: TEXT, body: dump.replaceAll('\n', '\r\n') }],
    [
      'the list of release 6',
      {
        body: '[{"name":"main","id":1,"state":"RUNNABLE","stackTrace":[{"methodName":"accept","lineNumber":-2}]},{"name":"w1","id":41,"state":"TIMED_WAITING","lockInfo":null,"stackTrace":[]},{"name":"w2","id":42,"state":"TIMED_WAITING","stackTrace":[]},{"name":"b","id":43,"state":"BLOCKED","stackTrace":[]},{"name":"odd","id":44,"state":null},{"name":"odd","id":45}]',
      },
    ],
  ])('counts threads by state in %s', async (_name, answer) => {
    expect(await scrapeCollector('threads', { answers: { 'metrics/threads': answer } })).toEqual(shown`
      # TYPE automation_app_threads gauge
      automation_app_threads{server="prod",state="blocked"} 1
      automation_app_threads{server="prod",state="new"} 0
      automation_app_threads{server="prod",state="runnable"} 1
      automation_app_threads{server="prod",state="terminated"} 0
      automation_app_threads{server="prod",state="timed_waiting"} 2
      automation_app_threads{server="prod",state="waiting"} 0`);
  });

  it.each<readonly [string, CannedAnswer]>([
    ['not_found', { status: 404, body: '{"error":true,"message":"Not Found"}' }],
    ['forbidden', { status: 403, body: '{"error":true,"errorCode":"api.error.item.unauthorized","message":"no"}' }],
    ['decode', { headers: TEXT, body: 'no thread at all' }],
    ['decode', { body: '[]' }],
    ['decode', { body: '{"error":"pending"}' }],
    ['empty', { headers: TEXT, body: '' }],
    ['html', { headers: { 'content-type': 'text/html' }, body: '<html>Down for maintenance</html>' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrapeCollector('threads', { answers: { 'metrics/threads': answer } })).toEqual({ outcome, text: '' });
  });
});
