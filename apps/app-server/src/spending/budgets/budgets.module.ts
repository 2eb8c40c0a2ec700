import { Module } from '@nestjs/common';
import { BudgetMails } from './budget-mails.js';
import { BudgetsController } from './budgets.controller.js';
import { BudgetsService } from './budgets.service.js';

@Module({ controllers: [BudgetsController], providers: [BudgetsService, BudgetMails] })
export class BudgetsModule {}
