export { Catalog, type Entry, inServiceOrder } from './catalog.js';
export { BadSelection, isAcl, type Selection, selection } from './categories.js';
export { fold } from './fold.js';
export { type Mended, mend } from './mend.js';
export { dependencyOrder } from './order.js';
export { references } from './references.js';
