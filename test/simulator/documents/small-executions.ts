// The two executions of the small installation, in the form of API reference, "Execution".

export const one = {
  id: 1,
  href: '{base}/api/47/execution/1',
  permalink: '{base}/project/pay/execution/show/1',
  status: 'succeeded',
  project: 'pay',
  user: 'scheduler',
  'date-started': { unixtime: 1768478340123, date: '2026-01-15T11:59:00Z' },
  'date-ended': { unixtime: 1768478350456, date: '2026-01-15T11:59:10Z' },
  job: {
    id: '11111111-1111-4111-a111-111111111111',
    averageDuration: 10333,
    name: 'settle',
    group: 'nightly',
    project: 'pay',
    description: 'Settles the day',
    options: { mode: 'full' },
    href: '{base}/api/47/job/11111111-1111-4111-a111-111111111111',
    permalink: '{base}/project/pay/job/show/11111111-1111-4111-a111-111111111111',
  },
  description: 'true',
  argstring: '-mode full',
  successfulNodes: ['web01', 'web02'],
};

export const two = {
  id: 2,
  href: '{base}/api/47/execution/2',
  permalink: '{base}/project/pay/execution/show/2',
  status: 'failed',
  project: 'pay',
  user: 'amira',
  'date-started': { unixtime: 1768478370000, date: '2026-01-15T11:59:30Z' },
  'date-ended': { unixtime: 1768478380000, date: '2026-01-15T11:59:40Z' },
  description: 'true',
  argstring: null,
  failedNodes: ['web01', 'web02'],
};

// No document has the type of an execution, but every real server sends it (J 3).
export const real = { one: { ...one, executionType: 'scheduled' }, two: { ...two, executionType: 'scheduled' } };

export const twoAt58 = { ...real.two, href: '{base}/api/58/execution/2', jobDeleted: false };
