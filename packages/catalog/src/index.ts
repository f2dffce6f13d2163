export { dependencyOrder } from './order.js';
