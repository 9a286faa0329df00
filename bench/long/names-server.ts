import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

/** A server with many jobs with very long names; each job ended once in the hour before `endedBeforeMs`. */
export async function startNamesServer(jobs: number, nameBytes: number, endedBeforeMs: number) {
  const rest = 'x'.repeat(nameBytes);
  const gapMs = 3_000_000 / jobs;
  const endOf = (index: number): number => Math.floor(endedBeforeMs - index * gapMs);
  let asked = 0;

  function toRow(index: number): string {
    const endedAtMs = endOf(index);
    const at = (ms: number): string => `{"unixtime":${ms},"date":"${new Date(ms).toISOString()}"}`;
    const id = jobs - index;
    return `{"id":${id},"status":"succeeded","project":"pay","executionType":"scheduled","user":"u","date-started":${at(endedAtMs - 1000)},"date-ended":${at(endedAtMs)},"job":{"id":"job-${index}","averageDuration":1000,"name":"${index} ${rest}","group":"nightly","project":"pay"},"successfulNodes":["node01"]}`;
  }

  function answerExecutions(query: URLSearchParams, response: ServerResponse): void {
    const [begin, end] = [Number(query.get('begin') ?? 0), Number(query.get('end') ?? endedBeforeMs)];
    const [max, offset] = [Number(query.get('max') ?? 20), Number(query.get('offset') ?? 0)];
    const first = Math.min(jobs, Math.max(0, Math.ceil((endedBeforeMs - end) / gapMs)));
    const after = Math.max(first, Math.min(jobs, Math.floor((endedBeforeMs - begin) / gapMs) + 1));
    const rows: string[] = [];
    for (let index = first + offset; index < after && rows.length < max; index += 1) rows.push(toRow(index));
    const paging = { count: rows.length, total: after - first, offset, max };
    response.end(`{"paging":${JSON.stringify(paging)},"executions":[${rows.join(',')}]}`);
  }

  function* toJobs(): Generator<string> {
    for (let index = 0; index < jobs; index += 1) {
      const enabled = '"enabled":true,"scheduleEnabled":true,"scheduled":true';
      yield `${index === 0 ? '[' : ','}{"id":"job-${index}","name":"${index} ${rest}","group":"nightly","project":"pay",${enabled}}`;
    }
    yield ']';
  }

  const server = createServer((request, response) => {
    asked += 1;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const path = pathname.replace(/^\/api\/\d+\//, '');
    response.setHeader('content-type', 'application/json');
    if (path === 'system/info') response.end('{"system":{"rundeck":{"version":"5.0.0","apiversion":47}}}');
    else if (path === 'projects') response.end('[{"name":"pay"}]');
    else if (path === 'project/pay/executions') answerExecutions(searchParams, response);
    else if (path.endsWith('/executions/running'))
      response.end('{"paging":{"count":0,"total":0,"offset":0,"max":20},"executions":[]}');
    else if (path === 'executions/metrics') response.end(`{"total":${jobs}}`);
    else if (path === 'project/pay/jobs') Readable.from(toJobs()).pipe(response);
    else response.writeHead(404).end('{"error":true,"message":"no"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // This cast is safe: the address of a TCP server has a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: () => asked,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
