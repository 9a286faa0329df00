import { type ClassCount, userClasses } from '../api/endpoints/users.ts';
import { gauge, type Row, type ValueFamily } from '../metrics/family.ts';
import { defineCollector } from '../schedule/collector.ts';

export const userClassesCollector = defineCollector({
  name: 'user-classes',
  help: 'Users by class and the number that the licence allows (commercial edition)',
  every: '15m',
  on: false,
  reads: [userClasses],
  metrics: {
    users: gauge('automation_user_class_users', 'Users in a class [userclass/state, summary].', 'class'),
    entitled: gauge(
      'automation_user_class_entitled',
      'Users that the licence allows in a class [userclass/state, entitled].',
      'class',
    ),
    exceeded: gauge(
      'automation_user_class_exceeded',
      'Users in a class beyond the number that the licence allows [userclass/state, exceeded].',
      'class',
    ),
  },
  fetch: (api) => api.get(userClasses),
  map: ({ summary, entitled, exceeded }, metrics) => [
    ...toRows(summary, metrics.users),
    ...toRows(entitled, metrics.entitled),
    ...toRows(exceeded, metrics.exceeded),
  ],
});

function toRows(counts: readonly ClassCount[], family: ValueFamily<'class'>): Row[] {
  return counts.flatMap(({ userClass, users }) => family.rows(users, { class: userClass }));
}
