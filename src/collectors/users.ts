import { users } from '../api/endpoints/users.ts';
import { gauge } from '../metrics/family.ts';
import { defineCollector } from '../schedule/collector.ts';

/** Counts the users. The server makes one database query for each user, and responds only to administrators. */
export const usersCollector = defineCollector({
  name: 'users',
  help: 'Number of users of the server; requires admin rights',
  every: '1h',
  on: false,
  reads: [users],
  metrics: { users: gauge('automation_users', 'Number of users of the server [user/list].') },
  fetch: (api) => api.get(users),
  map: (count, metrics) => metrics.users.rows(count),
});
