import { createServer } from 'node:http';
import { parentPort } from 'node:worker_threads';

const logStorage =
  '{"enabled":true,"pluginName":"object-store","succeededCount":1405,"failedCount":0,"queuedCount":0,"totalCount":1405,"incompleteCount":0,"missingCount":0}';
const executions = JSON.stringify({
  paging: { count: 10_000, total: 10_000, offset: 0, max: 10_000 },
  executions: Array.from({ length: 10_000 }, (_, index) => ({
    id: index,
    href: `http://localhost/api/47/execution/${index}`,
    permalink: `http://localhost/project/p/execution/show/${index}`,
    status: index % 10 === 0 ? 'failed' : 'succeeded',
    project: 'p',
    executionType: 'scheduled',
    user: 'admin',
    'date-started': { unixtime: 1_716_200_000_123 + index, date: '2024-05-20T10:13:20Z' },
    'date-ended': { unixtime: 1_716_200_009_456 + index, date: '2024-05-20T10:13:29Z' },
    job: { id: 'b1946ac9', averageDuration: 5123, name: 'nightly', group: 'load', project: 'p', description: '' },
    description: 'uptime',
    argstring: null,
    successfulNodes: ['web01'],
  })),
});

/** A cheap server in its own thread, so that only the client is measured. */
const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(request.url?.includes('executions') === true ? executions : logStorage);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) parentPort?.postMessage(`http://127.0.0.1:${address.port}`);
});
