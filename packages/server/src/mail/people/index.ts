export { openLink, queuePeopleMail } from './queue-people-mail.ts';
