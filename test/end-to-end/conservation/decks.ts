import { cutPages, deleteWhileReading, lie, shift } from './page-cards.ts';
import type { Deck } from './play.ts';
import { createAndDelete, deletedUnread, disable, hide, importOld, oneTime, veryLate } from './project-cards.ts';
import { absence, newDatabase, outage, skew, stepBack } from './server-cards.ts';

/** Ids that start again need everything read before. */
export const renewed: Deck = [
  [disable, 3],
  [hide, 3],
  [createAndDelete, 2],
  [outage, 3],
  [absence, 1],
  [oneTime, 2],
  [deletedUnread, 3],
  [deleteWhileReading, 4],
  [shift, 4],
  [cutPages, 1],
  [newDatabase, 3],
];

/** Clocks and totals that lie make that take a day: a kind of world of its own. */
export const crooked: Deck = [
  [disable, 3],
  [hide, 3],
  [outage, 3],
  [absence, 1],
  [oneTime, 2],
  [deletedUnread, 2],
  [cutPages, 1],
  [lie, 3],
  [stepBack, 6],
  [skew, 4],
  [importOld, 4],
  [veryLate, 4],
];
