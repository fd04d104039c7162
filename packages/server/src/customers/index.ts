export { checkExternalId, ensureCustomer } from './ensure-customer.ts';
export { customerLanguage, rememberLanguage } from './language.ts';
export { findCustomerId, readCustomer } from './read-customer.ts';
export { customerRoutes } from './routes.ts';
export { customersWithEmail } from './with-email.ts';
