import { Module } from '@nestjs/common';
import { BackchannelLogoutController } from './backchannel-logout.controller.js';
import { SignInController } from './sign-in.controller.js';
import { SignInService } from './sign-in.service.js';

@Module({ controllers: [SignInController, BackchannelLogoutController], providers: [SignInService] })
export class SignInModule {}
