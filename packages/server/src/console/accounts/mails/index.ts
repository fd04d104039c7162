export { inviteByMail, type PeopleMailDeps, renewLink, resetFactorsByMail } from './people-mail.ts';
