import { Module } from '@nestjs/common';
import { DomainJoin } from '../domains/domain-join.js';
import { BackchannelLogoutController } from './backchannel-logout.controller.js';
import { SignInController } from './sign-in.controller.js';
import { SignInService } from './sign-in.service.js';

@Module({ controllers: [SignInController, BackchannelLogoutController], providers: [DomainJoin, SignInService] })
export class SignInModule {}
