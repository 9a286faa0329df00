// The two jobs of the small installation, in the form of API reference, "Job summary" and "Job metadata".

export const settle = {
  id: '11111111-1111-4111-a111-111111111111',
  name: 'settle',
  group: 'nightly',
  project: 'pay',
  description: 'Settles the day',
  href: '{base}/api/47/job/11111111-1111-4111-a111-111111111111',
  permalink: '{base}/project/pay/job/show/11111111-1111-4111-a111-111111111111',
};

export const backup = {
  id: '22222222-2222-4222-a222-222222222222',
  name: 'backup',
  group: null,
  project: 'pay',
  description: '',
  href: '{base}/api/47/job/22222222-2222-4222-a222-222222222222',
  permalink: '{base}/project/pay/job/show/22222222-2222-4222-a222-222222222222',
};

export const scheduled = { scheduled: true, scheduleEnabled: true, enabled: true };

// Servers report an enabled schedule for a job without a schedule (J 2).
export const byHand = { scheduled: false, scheduleEnabled: true, enabled: true };

export const at58 = {
  settle: { ...settle, href: '{base}/api/58/job/11111111-1111-4111-a111-111111111111' },
  backup: { ...backup, href: '{base}/api/58/job/22222222-2222-4222-a222-222222222222' },
};

export const history = {
  created: '2026-01-15T12:00:00.000Z',
  createdBy: 'admin',
  lastModified: '2026-01-15T12:00:00.000Z',
  lastModifiedBy: 'admin',
};
