import { cutPages, deleteWhileReading, lie, shift } from './page-cards.ts';
import type { Deck } from './play.ts';
import { createAndDelete, deletedUnread, disable, hide, importOld, oneTime, veryLate } from './project-cards.ts';
import { absence, newDatabase, outage, skew, stepBack } from './server-cards.ts';

/** Before ids restart, everything must have been read. */
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

/** With wrong clocks and totals this takes a day, so these problems have their own kind of world. */
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
